import { ComingPage } from "../coming/coming_page";

export default function ModelsPage() {
  return <ComingPage title="page.models" />;
}
