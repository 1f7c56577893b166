// The command room.
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RoomFrame } from "./frame/room_frame";
import { followCity } from "./state/follow_city";
import "./theme/tokens.css";
import "./frame/frame.css";

followCity();
const place = document.getElementById("room");
if (place) {
  createRoot(place).render(
    <StrictMode>
      <RoomFrame />
    </StrictMode>,
  );
}
