// A panel: a heading and what it names. Panels say themselves how old their figures are, where they are old.
import { type ReactNode, useId } from "react";
import type { Kept } from "../state/answers";
import { Loading, ProblemNote } from "./problem_note";

interface PanelProps {
  readonly title: ReactNode;
  readonly tools?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

export function Panel({ title, tools, className = "", children }: PanelProps) {
  const titleId = useId();
  return (
    <section className={`panel ${className}`} aria-labelledby={titleId}>
      <header className="panel-head">
        <h2 id={titleId}>{title}</h2>
        {tools}
      </header>
      {children}
    </section>
  );
}

interface KnownProps<T> {
  readonly kept: Kept<T>;
  readonly children: (value: T) => ReactNode;
}

// What is known stays on the screen while the line is down; only where nothing is known stands the problem alone.
export function Known<T>({ kept, children }: KnownProps<T>) {
  if (kept.value !== null) return <>{children(kept.value)}</>;
  return kept.problem ? <ProblemNote problem={kept.problem} /> : <Loading />;
}
