// A link within the page: a real link, so that it opens in a new tab too, that loads nothing anew.
import type { AnchorHTMLAttributes, MouseEvent } from "react";
import { navigate } from "./route";

interface GoProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly to: string;
}

export function Go({ to, onClick, ...rest }: GoProps) {
  function follow(event: MouseEvent<HTMLAnchorElement>): void {
    onClick?.(event);
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !isPlain) return;
    event.preventDefault();
    navigate(to);
  }
  return <a href={to} onClick={follow} {...rest} />;
}
