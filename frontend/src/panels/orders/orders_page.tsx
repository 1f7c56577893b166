import { ComingPage } from "../coming/coming_page";

export default function OrdersPage() {
  return <ComingPage title="page.orders" />;
}
