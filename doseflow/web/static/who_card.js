// Who is signed in, and out again. Where nobody has to sign in there is nothing to show.
import { ask, tell } from "./api.js";
import { setText } from "./element.js";
import { t } from "./language.js";

export class WhoCard {
  constructor(button) {
    this.button = button;
    this.who = null;
    button.addEventListener("click", () => this.leave());
  }

  async read() {
    this.who = await ask("/api/v1/me");
    this.show();
  }

  show() {
    this.button.hidden = !this.who?.is_signed_in;
    setText(this.button, t("who.leave", { name: this.who?.name }));
  }

  async leave() {
    await tell("/api/v1/sign-out", {});
    window.location.assign("/sign-in");
  }
}
