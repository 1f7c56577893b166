// Looks back over the day. What is not now says so, loudly.
import { useEffect, useState } from "react";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { type Moments, momentAt, numSteps, stepAt } from "./moments";
import { nowWords } from "./now_words";

// A slider that is being drawn asks for nothing on its way.
const REST_MILLISECONDS = 120;

interface TimeSliderProps {
  readonly moments: Moments;
  readonly shown: number | null;
  readonly onChoose: (moment: number | null) => void;
}

export function TimeSlider({ moments, shown, onChoose }: TimeSliderProps) {
  const say = useSay(nowWords);
  const { clockTime } = useFormat();
  const last = numSteps(moments);
  const [held, setHeld] = useState<number | null>(null);
  const step = held ?? (shown === null ? last : stepAt(moments, shown));
  useEffect(() => {
    if (held === null) return;
    const timer = window.setTimeout(() => {
      onChoose(held >= last ? null : momentAt(moments, held));
      setHeld(null);
    }, REST_MILLISECONDS);
    return () => window.clearTimeout(timer);
  }, [held, last, moments, onChoose]);
  const isNow = step >= last;
  const words = say(isNow ? "slider.shown_now" : "slider.shown_past", { time: clockTime(momentAt(moments, step)) });
  return (
    <div className={`time-slider ${isNow ? "" : "past"}`}>
      <input
        type="range"
        min={0}
        max={last}
        value={step}
        aria-label={say("slider.label")}
        aria-valuetext={words}
        onChange={(event) => setHeld(Number(event.target.value))}
      />
      <output>{words}</output>
      {!isNow && (
        <button type="button" className="button" onClick={() => onChoose(null)}>
          {say("slider.now")}
        </button>
      )}
    </div>
  );
}
