// The frame: skip link, bar, what is true of the line, and the page that the address names.
import { Suspense, useEffect, useRef } from "react";
import { timezone, useFormat } from "../language/format";
import { useSay } from "../language/language";
import { Go } from "../routing/go";
import { PAGES, type Page } from "../routing/pages";
import { matched, usePlace } from "../routing/route";
import { line } from "../state/line";
import { useStore } from "../state/store";
import { useCity } from "../state/use_city";
import { FailureFence } from "./failure_fence";
import { frameWords } from "./frame_words";
import { IntentsBar } from "./intents_bar";
import { Loading } from "./problem_note";
import { TopBar } from "./top_bar";
import { TruthBanner } from "./truth_banner";

export function RoomFrame() {
  const say = useSay(frameWords);
  const { path } = usePlace();
  const { state } = useStore(line);
  const found = pageOf(path);
  const title = found ? say(found.page.title) : say("page.none");
  const main = useFocusOnArrival(path);
  useTimezone();
  useEffect(() => {
    document.title = `${title} – doseflow`;
  }, [title]);
  return (
    <div className="room" data-line={state}>
      <a className="skip" href="#main">
        {say("frame.skip")}
      </a>
      <TopBar page={found?.page ?? null} />
      <TruthBanner />
      <IntentsBar />
      <Updated />
      <main id="main" tabIndex={-1} ref={main} aria-label={title}>
        <FailureFence key={path}>
          <Suspense fallback={<Loading />}>
            {found ? <found.page.Body params={found.params} /> : <NoSuchPage />}
          </Suspense>
        </FailureFence>
      </main>
    </div>
  );
}

function pageOf(path: string): { page: Page; params: Readonly<Record<string, string>> } | null {
  for (const page of PAGES) {
    const params = matched(page.pattern, path);
    if (params) return { page, params };
  }
  return null;
}

// After a link the reader stands at the new page, not at the end of the old one; on the first page nothing moves.
function useFocusOnArrival(path: string) {
  const main = useRef<HTMLElement>(null);
  const arrivedAt = useRef(path);
  useEffect(() => {
    if (arrivedAt.current !== path) main.current?.focus({ preventScroll: true });
    arrivedAt.current = path;
  }, [path]);
  return main;
}

function useTimezone(): void {
  const zone = useCity().value?.timezone;
  useEffect(() => {
    if (zone) timezone.set(zone);
  }, [zone]);
}

// Told to those who do not see the figures change.
function Updated() {
  const say = useSay(frameWords);
  const { clockTime } = useFormat();
  const asOf = useCity().value?.as_of ?? null;
  return (
    <p className="unseen" aria-live="polite">
      {asOf && say("updated.told", { time: clockTime(asOf) })}
    </p>
  );
}

function NoSuchPage() {
  const say = useSay(frameWords);
  return (
    <div className="panel">
      <h1>{say("page.none")}</h1>
      <Go to="/room/">{say("page.back")}</Go>
    </div>
  );
}
