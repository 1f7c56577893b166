// The site head's page: its own small bundle, since it opens on slow phones.
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { SiteHeadPage } from "./panels/site_head/site_head_page";
import "./theme/tokens.css";
import "./panels/site_head/site_head.css";

const place = document.getElementById("site");
if (place) {
  createRoot(place).render(
    <StrictMode>
      <SiteHeadPage />
    </StrictMode>,
  );
}
