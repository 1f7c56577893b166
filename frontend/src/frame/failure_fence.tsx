// A page that fails takes no other with it: the fence says so and offers to load again.
import { Component, type ReactNode } from "react";
import { language, sayIn } from "../language/language";
import { frameWords } from "./frame_words";

interface FenceProps {
  readonly children: ReactNode;
}

export class FailureFence extends Component<FenceProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    const say = sayIn(frameWords, language.get());
    return (
      <div className="panel problem" role="alert">
        <p>{say("page.failed")}</p>
        <button type="button" className="button" onClick={() => location.reload()}>
          {say("page.reload")}
        </button>
      </div>
    );
  }
}
