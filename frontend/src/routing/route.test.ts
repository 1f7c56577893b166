import { expect, test } from "vitest";
import { matched } from "./route";

test("a pattern names its parts, decoded", () => {
  expect(matched("/room/sites/:siteId", "/room/sites/a%2Fb")).toEqual({ siteId: "a/b" });
});

test.each([
  ["/room", "/room/", {}],
  ["/room", "/room/orders", null],
  ["/room/sites/:siteId", "/room/sites", null],
])("%s against %s", (pattern, path, found) => expect(matched(pattern, path)).toEqual(found));
