import { ComingPage } from "../coming/coming_page";

export default function ShiftPage() {
  return <ComingPage title="page.shift" />;
}
