// What the screen knows: sites, orders, cycles, the chosen site, and whether the line to the service stands.
import { ask } from "./api.js";

const LEAST_MILLISECONDS_BETWEEN = 700;
const REFRESH_MILLISECONDS = 30000;
const OPEN_ORDERS = "/api/v1/orders?state=proposed&state=approved&state=sent&state=acknowledged&state=under_way&limit=1000";
const ENDED_ORDERS = "/api/v1/orders?state=done&state=refused&state=expired&state=withdrawn&limit=100";

export class CityModel extends EventTarget {
  constructor() {
    super();
    this.city = null;
    this.siteById = new Map();
    this.orders = [];
    this.endedOrders = [];
    this.cycle = null;
    this.cycles = [];
    this.chosenSiteId = null;
    this.detail = null;
    this.isConnected = null;
    this.lostAt = null;
    this.reportsSeen = 0;
    this.cycleFailed = false;
    this.showsEnded = false;
    this.wanted = new Set();
    this.isReading = false;
    this.readAt = 0;
    setInterval(() => this.want("sites", "orders", "cycles"), REFRESH_MILLISECONDS);
  }

  get now() {
    return this.city?.now ?? null;
  }

  get sites() {
    return this.city?.sites ?? [];
  }

  setConnected(isConnected) {
    if (isConnected) this.want("sites", "orders", "cycles");
    if (!isConnected && this.isConnected !== false) this.lostAt = Date.now();
    this.isConnected = isConnected;
    this.tell("link");
  }

  take(name, payload) {
    if (name === "reports_received") {
      this.reportsSeen += payload.accepted;
      this.tell("reports");
    } else if (name === "receipt_recorded") {
      this.want("orders");
    } else {
      this.cycleFailed = name === "cycle_failed";
      this.want("sites", "orders", "cycles");
    }
  }

  choose(siteId) {
    if (this.chosenSiteId === siteId) return;
    this.chosenSiteId = siteId;
    this.detail = null;
    this.tell("chosen");
    if (siteId !== null) this.want("detail");
  }

  showEnded(showsEnded) {
    this.showsEnded = showsEnded;
    this.want("orders");
    this.tell("orders");
  }

  want(...what) {
    for (const each of what) this.wanted.add(each);
    if (this.isReading) return;
    this.isReading = true;
    const wait = Math.max(0, this.readAt + LEAST_MILLISECONDS_BETWEEN - Date.now());
    // A choice is answered at once; a burst of receipts is read once.
    setTimeout(() => this.read(), what.includes("detail") ? 0 : wait);
  }

  async read() {
    const wanted = this.wanted;
    this.wanted = new Set();
    this.readAt = Date.now();
    if (wanted.has("sites") && this.chosenSiteId !== null) wanted.add("detail");
    try {
      await Promise.all([...wanted].map((each) => this[`read_${each}`]()));
    } catch (error) {
      console.warn("doseflow: reading failed, trying again later:", error.message);
    }
    this.isReading = false;
    if (this.wanted.size) this.want();
  }

  async read_sites() {
    this.city = await ask("/api/v1/sites");
    this.siteById = new Map(this.city.sites.map((site) => [site.site_id, site]));
    this.tell("sites");
  }

  async read_orders() {
    const [open, ended] = await Promise.all([ask(OPEN_ORDERS), this.showsEnded ? ask(ENDED_ORDERS) : null]);
    this.orders = open.orders;
    this.endedOrders = ended?.orders ?? [];
    this.tell("orders");
  }

  async read_cycles() {
    const { latest, cycles } = await ask("/api/v1/cycles?limit=60");
    this.cycle = latest;
    this.cycles = cycles;
    this.tell("cycles");
  }

  async read_detail() {
    const siteId = this.chosenSiteId;
    if (siteId === null) return;
    const detail = await ask(`/api/v1/sites/${encodeURIComponent(siteId)}`);
    if (siteId !== this.chosenSiteId) return;
    this.detail = detail;
    this.tell("detail");
  }

  tell(what) {
    this.dispatchEvent(new CustomEvent("change", { detail: what }));
  }
}
