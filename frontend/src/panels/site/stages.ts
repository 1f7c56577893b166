// The stages of a visit, in the order people pass through.
export const STAGES = ["registration", "screening", "vaccination", "observation"] as const;
export type Stage = (typeof STAGES)[number];
