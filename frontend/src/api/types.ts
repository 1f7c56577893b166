// The nouns of the API under short names. They are made from the product's own OpenAPI document.
import type { components, paths } from "./schema";

type Schemas = components["schemas"];

export type SitesAnswer = Schemas["SitesAnswer"];
export type SiteRow = Schemas["SiteRow"];
export type SiteDetail = Schemas["SiteDetailAnswer"];
export type SiteDay = Schemas["SiteDayAnswer"];
export type CityDay = Schemas["CityDayAnswer"];
export type ArrivalsOfDay = Schemas["ArrivalsOfDay"];
export type Reading = Schemas["Reading"];
export type FridgeDay = Schemas["FridgeDay"];
export type FridgeRow = Schemas["FridgeRow"];
export type ReceivedReport = Schemas["ReceivedReport"];
export type OrderRow = Schemas["OrderRow"];
export type Decision = OrderRow["decision"];
export type CycleAnswer = Schemas["CycleAnswer"];
export type WhatIfAnswer = Schemas["WhatIfAnswer"];
export type AskedChange = Schemas["AskedChange"];
export type PlaceView = Schemas["PlaceView"];
export type Summary = Schemas["Summary"];
export type Trouble = Schemas["Trouble"];

type Gettable = {
  [P in keyof paths]: paths[P] extends { get: { responses: { 200: unknown } } } ? P : never;
}[keyof paths];

export type GetPath = Extract<Gettable, `/api/${string}`>;
type Get<P extends GetPath> = paths[P]["get"] extends infer Operation ? Operation : never;
type Ok<Operation> = Operation extends { responses: { 200: { content: { "application/json": infer Body } } } }
  ? Body
  : never;

export type Answer<P extends GetPath> = Ok<Get<P>>;
export type Asked<P extends GetPath> = Get<P> extends { parameters: infer Parameters } ? Parameters : never;
