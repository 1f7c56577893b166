// Before the first paint: the chosen colours and language, so that nothing flashes. Kept out of the page, which has no inline script.
(() => {
  const root = document.documentElement;
  const recall = (name) => {
    try {
      return JSON.parse(localStorage.getItem(`doseflow.${name}`));
    } catch {
      return null;
    }
  };
  const theme = recall("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  const language =
    recall("language") ?? (navigator.languages.some((each) => each.toLowerCase().startsWith("zh")) ? "zh" : "en");
  root.lang = language === "zh" ? "zh-CN" : "en-GB";
})();
