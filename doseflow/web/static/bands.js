// Bands of the wait. The order is the order of worry; each has a shape and a letter besides its colour.
export const BANDS = ["crowded", "busy", "clear", "unknown", "closed"];

// From this score on a trouble is grave: the site needs somebody now.
export const GRAVE_SCORE = 60;

export function bandOf(site, city) {
  if (!site.is_open) return "closed";
  if (site.wait_minutes === null || site.age_minutes === null || isOld(site, city)) return "unknown";
  if (site.wait_minutes >= city.crowded_wait_minutes) return "crowded";
  return site.wait_minutes >= city.busy_wait_minutes ? "busy" : "clear";
}

export function isOld(site, city) {
  return site.age_minutes === null || site.age_minutes > city.old_report_minutes;
}

export function countBands(city) {
  const counts = Object.fromEntries(BANDS.map((band) => [band, 0]));
  for (const site of city.sites) counts[bandOf(site, city)] += 1;
  return counts;
}

export function waitingPeople(site) {
  const { registration, screening, vaccination } = site.waiting_people;
  const known = [registration, screening, vaccination].filter((people) => people !== null);
  return known.length ? known.reduce((sum, people) => sum + people, 0) : null;
}
