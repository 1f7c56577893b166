// One stream of events for the whole screen. It reconnects by itself, and says when it is lost.
const NAMES = ["cycle_completed", "cycle_failed", "reports_received", "receipt_recorded", "site_commanded", "order_decided", "handover_given", "playbook_started", "playbook_ended", "release_step"];
const FIRST_RETRY_MILLISECONDS = 1000;
const LAST_RETRY_MILLISECONDS = 15000;

export class LiveEvents {
  constructor(path, { onEvent, onLink }) {
    this.path = path;
    this.onEvent = onEvent;
    this.onLink = onLink;
    this.retryMilliseconds = FIRST_RETRY_MILLISECONDS;
  }

  open() {
    this.source = new EventSource(this.path);
    this.source.addEventListener("connected", () => {
      this.retryMilliseconds = FIRST_RETRY_MILLISECONDS;
      this.onLink(true);
    });
    for (const name of NAMES) {
      this.source.addEventListener(name, (event) => this.onEvent(name, JSON.parse(event.data)));
    }
    this.source.addEventListener("error", () => this.lose());
  }

  lose() {
    this.onLink(false);
    // Left alone, a browser gives up for good once the service answered anything but a stream.
    this.source.close();
    setTimeout(() => this.open(), this.retryMilliseconds);
    this.retryMilliseconds = Math.min(LAST_RETRY_MILLISECONDS, 2 * this.retryMilliseconds);
  }
}
