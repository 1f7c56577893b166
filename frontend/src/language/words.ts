// Words in two languages, typed: a key or a figure that one language lacks does not compile.
export const LANGUAGES = ["en", "zh"] as const;
export type Language = (typeof LANGUAGES)[number];

// A plural is chosen by `count`; Chinese has one form only.
export interface EnglishPlural {
  readonly one: string;
  readonly other: string;
}
export type EnglishWords = Readonly<Record<string, string | EnglishPlural>>;
export type ChineseWords<E extends EnglishWords> = {
  readonly [K in keyof E]: E[K] extends string ? string : { readonly other: string };
};

export interface Words<E extends EnglishWords> {
  readonly en: E;
  readonly zh: ChineseWords<E>;
}

type SlotsOf<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | SlotsOf<Rest> : never;
type SlotsOfEntry<Entry> = Entry extends EnglishPlural ? SlotsOf<Entry["one" | "other"]> | "count" : SlotsOf<Entry>;
export type Value = string | number | null | undefined;
export type Slots<Entry> = [SlotsOfEntry<Entry>] extends [never] ? [] : [values: Record<SlotsOfEntry<Entry>, Value>];

export function inTwoLanguages<const E extends EnglishWords>(en: E, zh: ChineseWords<E>): Words<E> {
  return { en, zh };
}

export const LOCALES: Readonly<Record<Language, string>> = { en: "en-GB", zh: "zh-CN" };

export function filled(text: string, values: Readonly<Record<string, Value>>, language: Language): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => shown(values[name], language));
}

export function formOf(entry: string | Partial<EnglishPlural>, count: Value, language: Language): string {
  if (typeof entry === "string") return entry;
  const form = new Intl.PluralRules(LOCALES[language]).select(Number(count ?? 0));
  return (form === "one" ? entry.one : undefined) ?? entry.other ?? "";
}

function shown(value: Value, language: Language): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return value;
  const maximumFractionDigits = Number.isInteger(value) ? 0 : 1;
  return new Intl.NumberFormat(LOCALES[language], { maximumFractionDigits }).format(value);
}
