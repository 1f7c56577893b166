// The sign-in page: what ways there are, and in by one of them.
import { ask, tell } from "./api.js";
import { setText } from "./element.js";
import { chooseLanguage, currentLanguage, onLanguage, t, translatePage } from "./language.js";

const REFUSED = { provider: "sign_in.refused_provider", no_answer: "sign_in.no_answer" };
const find = (name) => document.querySelector(`[data-part="${name}"]`);
const form = find("password");
const link = find("provider").querySelector("a");
let ways = null;

function showTrouble(text) {
  find("trouble").hidden = !text;
  setText(find("trouble"), text);
}

function show() {
  const next = currentLanguage() === "zh" ? "en" : "zh";
  setText(find("language"), t("language.other"));
  find("language").dataset.next = next;
  form.hidden = !ways?.by_password;
  find("provider").hidden = !ways?.provider;
  setText(link, t("sign_in.provider", { provider: ways?.provider ?? "" }));
}

async function begin() {
  ways = await ask("/api/v1/sign-in");
  if (!ways.is_needed) window.location.replace("/");
  const refused = REFUSED[new URLSearchParams(window.location.search).get("refused")];
  if (refused) showTrouble(t(refused));
  else if (!ways.by_password && !ways.provider) showTrouble(t("sign_in.nobody"));
  show();
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const given = new FormData(form);
  try {
    await tell("/api/v1/sign-in", { name: given.get("name"), password: given.get("password") });
    window.location.replace("/");
  } catch (error) {
    form.elements.password.value = "";
    showTrouble(error.status === 401 ? t("sign_in.refused") : error.message);
  }
});

find("language").addEventListener("click", () => chooseLanguage(find("language").dataset.next));
onLanguage(show);
translatePage();
show();
begin().catch((error) => showTrouble(error.message));
