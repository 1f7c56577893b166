import { ComingPage } from "../coming/coming_page";

export default function AlarmsPage() {
  return <ComingPage title="page.alarms" />;
}
