// What the site said, as it came: nothing folded, nothing estimated.
import { useMemo } from "react";
import { Known, Panel } from "../../frame/panel";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { ON_CYCLE, useAnswer } from "../../state/use_answer";
import { siteWords } from "./site_words";

const SHOWN = 12;

export function ReportsPanel({ siteId }: { readonly siteId: string }) {
  const say = useSay(siteWords);
  const { clockTime } = useFormat();
  const asked = useMemo(() => ({ path: { site_id: siteId }, query: { limit: SHOWN } }), [siteId]);
  const answer = useAnswer("/api/v1/sites/{site_id}/reports", asked, ON_CYCLE);
  return (
    <Panel title={say("reports.title")} className="wide">
      <Known kept={answer}>
        {({ reports }) => (
          <>
            {reports.length === 0 && <p className="muted note">{say("reports.none")}</p>}
            {reports.map(({ report, received_at }) => (
              <details key={report.report_id ?? report.valid_at}>
                <summary>
                  {say("reports.one", { valid: clockTime(report.valid_at), received: clockTime(received_at) })}
                </summary>
                <pre>{JSON.stringify(report, null, 1)}</pre>
              </details>
            ))}
          </>
        )}
      </Known>
    </Panel>
  );
}
