// The list: what troubles, which district, which name.

import { useState } from "react";
import type { SitesAnswer } from "../../api/types";
import { Panel } from "../../frame/panel";
import { Scrolls } from "../../frame/scrolls";
import { useFormat } from "../../language/format";
import { useSay } from "../../language/language";
import { DistrictTable } from "./district_table";
import { nowWords } from "./now_words";
import { fits } from "./site_order";
import { SiteTable } from "./site_table";
import { countKinds, hasTroubleOf, TROUBLE_KINDS, type TroubleKind } from "./trouble_kinds";

interface SiteListPanelProps {
  readonly city: SitesAnswer;
  readonly onLight: (siteId: string | null) => void;
}

export function SiteListPanel({ city, onLight }: SiteListPanelProps) {
  const say = useSay(nowWords);
  const [kind, setKind] = useState<TroubleKind>("all");
  const [words, setWords] = useState("");
  const [byDistrict, setByDistrict] = useState(false);
  const found = city.sites.filter((site) => hasTroubleOf(site, kind) && fits(site, words));
  const search = (
    <input
      type="search"
      value={words}
      placeholder={say("list.search")}
      aria-label={say("list.search")}
      onChange={(event) => setWords(event.target.value)}
    />
  );
  return (
    <Panel title={say("list.title")} tools={search} className="list-panel">
      <div className="chips">
        <KindChips city={city} chosen={kind} onChoose={setKind} />
        <button type="button" className="button" aria-pressed={byDistrict} onClick={() => setByDistrict(!byDistrict)}>
          {say("list.districts")}
        </button>
      </div>
      <Scrolls label={say("list.sites")}>
        {byDistrict ? (
          <DistrictTable
            city={city}
            sites={found}
            onChoose={(district) => {
              setWords(district);
              setByDistrict(false);
            }}
          />
        ) : (
          <SiteTable city={city} sites={found} onLight={onLight} />
        )}
      </Scrolls>
    </Panel>
  );
}

interface KindChipsProps {
  readonly city: SitesAnswer;
  readonly chosen: TroubleKind;
  readonly onChoose: (kind: TroubleKind) => void;
}

function KindChips({ city, chosen, onChoose }: KindChipsProps) {
  const say = useSay(nowWords);
  const { number } = useFormat();
  const counts = countKinds(city.sites);
  return (
    <fieldset className="chips">
      <legend className="unseen">{say("list.kind")}</legend>
      {TROUBLE_KINDS.map((kind) => (
        <button key={kind} type="button" className="chip" aria-pressed={kind === chosen} onClick={() => onChoose(kind)}>
          {say(`kind.${kind}`)} <b>{number(counts[kind])}</b>
        </button>
      ))}
    </fieldset>
  );
}
