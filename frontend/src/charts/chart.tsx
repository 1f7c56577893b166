// A chart with its words: who cannot see it reads `label`, and `table` holds the same figures.

import { type ReactNode, useEffect, useRef } from "react";
import { Scrolls } from "../frame/scrolls";
import { useSay } from "../language/language";
import { chartWords } from "./chart_words";
import { type EChartsCoreOption, type EChartsType, init } from "./engine";

interface ChartProps {
  readonly option: EChartsCoreOption;
  readonly label: string;
  readonly className?: string;
  readonly table?: () => ReactNode;
}

export function Chart({ option, label, className = "", table }: ChartProps) {
  const say = useSay(chartWords);
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType>(null);
  useEffect(() => {
    if (!place.current) return;
    const made = init(place.current);
    chart.current = made;
    const watch = new ResizeObserver(() => made.resize());
    watch.observe(place.current);
    return () => {
      watch.disconnect();
      made.dispose();
    };
  }, []);
  useEffect(() => chart.current?.setOption(option, { notMerge: true }), [option]);
  return (
    <figure className={`chart ${className}`}>
      <div ref={place} className="chart-drawing" role="img" aria-label={label} />
      {table && (
        <details>
          <summary>{say("chart.as_table")}</summary>
          <Scrolls label={label}>{table()}</Scrolls>
        </details>
      )}
    </figure>
  );
}
