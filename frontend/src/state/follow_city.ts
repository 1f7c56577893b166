// Joins the stream to what the screen knows: an event renews the answers that it changes.
import { answers } from "./answers";
import { intents } from "./intents";
import { cycleEnded, lineIsLost, lineStands } from "./line";
import { followEvents } from "./live_events";

export function followCity(): () => void {
  return followEvents({
    onConnected() {
      lineStands();
      answers.takeAll();
      void intents.send();
    },
    onLost: lineIsLost,
    onEvent(name) {
      if (name === "cycle_completed" || name === "cycle_failed") cycleEnded(name === "cycle_failed");
      answers.take(name);
    },
  });
}
