import { ComingPage } from "../coming/coming_page";

export default function WhatIfPage() {
  return <ComingPage title="page.what_if" />;
}
