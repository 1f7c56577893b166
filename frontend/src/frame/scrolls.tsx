// What may scroll, and so must be reached by keys (axe: scrollable-region-focusable).
import type { ReactNode } from "react";

interface ScrollsProps {
  readonly label: string;
  readonly children: ReactNode;
}

export function Scrolls({ label, children }: ScrollsProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by keys.
    <section className="scrolls" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
