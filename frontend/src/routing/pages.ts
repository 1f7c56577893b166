// Every page of the room. Each is a chunk of its own, loaded when it is first opened.
import { type ComponentType, lazy } from "react";
import type { frameWords } from "../frame/frame_words";

export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}

export interface Page {
  readonly pattern: string;
  readonly title: keyof typeof frameWords.en & `page.${string}`;
  readonly isInMenu: boolean;
  readonly Body: ComponentType<PageProps>;
}

export const PAGES: readonly Page[] = [
  { pattern: "/room", title: "page.now", isInMenu: true, Body: lazy(() => import("../panels/now/now_page")) },
  {
    pattern: "/room/orders",
    title: "page.orders",
    isInMenu: true,
    Body: lazy(() => import("../panels/orders/orders_page")),
  },
  {
    pattern: "/room/what-if",
    title: "page.what_if",
    isInMenu: true,
    Body: lazy(() => import("../panels/what_if/what_if_page")),
  },
  {
    pattern: "/room/alarms",
    title: "page.alarms",
    isInMenu: true,
    Body: lazy(() => import("../panels/alarms/alarms_page")),
  },
  {
    pattern: "/room/shift",
    title: "page.shift",
    isInMenu: true,
    Body: lazy(() => import("../panels/shift/shift_page")),
  },
  {
    pattern: "/room/models",
    title: "page.models",
    isInMenu: true,
    Body: lazy(() => import("../panels/models/models_page")),
  },
  {
    pattern: "/room/sites/:siteId",
    title: "page.site",
    isInMenu: false,
    Body: lazy(() => import("../panels/site/site_page")),
  },
];
