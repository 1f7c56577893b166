// Runs before the first paint, so that nobody is dazzled: the remembered choice, else what the system prefers.
(function () {
  const KEY = "doseflow.theme";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  function remembered() {
    try {
      return window.localStorage.getItem(KEY);
    } catch {
      return null;
    }
  }

  function show() {
    const choice = remembered();
    const theme = choice === "light" || choice === "dark" ? choice : dark.matches ? "dark" : "light";
    document.documentElement.dataset.theme = theme;
    window.dispatchEvent(new Event("themechange"));
  }

  window.addEventListener("themetoggle", () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      window.localStorage.setItem(KEY, next);
    } catch {
      document.documentElement.dataset.theme = next;
    }
    show();
  });
  dark.addEventListener("change", show);
  show();
})();
