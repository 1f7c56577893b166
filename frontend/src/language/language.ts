// The chosen language; it changes on the spot and is kept for the person who chose it.
import { useMemo } from "react";
import { recall, remember } from "../state/remembered";
import { createStore, useStore } from "../state/store";
import {
  type EnglishPlural,
  type EnglishWords,
  filled,
  formOf,
  LANGUAGES,
  type Language,
  LOCALES,
  type Slots,
  type Value,
  type Words,
} from "./words";

export const language = createStore<Language>(startLanguage());

function startLanguage(): Language {
  const kept = recall("language");
  if (LANGUAGES.some((each) => each === kept)) return kept as Language;
  return navigator.languages.some((each) => each.toLowerCase().startsWith("zh")) ? "zh" : "en";
}

export function chooseLanguage(next: Language): void {
  remember("language", next);
  document.documentElement.lang = LOCALES[next];
  language.set(next);
}

export function useLanguage(): Language {
  return useStore(language);
}

export interface Say<E extends EnglishWords> {
  <K extends keyof E & string>(key: K, ...slots: Slots<E[K]>): string;
  // A word that the service names, as `trouble.wait_long`; what has none is shown as it came.
  named(prefix: string, name: string, values?: Readonly<Record<string, Value>>): string;
}

export function sayIn<E extends EnglishWords>(words: Words<E>, chosen: Language): Say<E> {
  const catalogue: Readonly<Record<string, string | Partial<EnglishPlural>>> = words[chosen];
  const say = (key: string, values: Readonly<Record<string, Value>> = {}): string =>
    filled(formOf(catalogue[key] ?? key, values.count, chosen), values, chosen);
  const named = (prefix: string, name: string, values: Readonly<Record<string, Value>> = {}): string => {
    const key = `${prefix}.${name}`;
    return key in catalogue ? say(key, values) : name;
  };
  return Object.assign(say, { named }) as Say<E>;
}

export function useSay<E extends EnglishWords>(words: Words<E>): Say<E> {
  const chosen = useLanguage();
  return useMemo(() => sayIn(words, chosen), [words, chosen]);
}
