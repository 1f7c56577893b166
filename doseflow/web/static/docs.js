// The page of the API, drawn from /openapi.json alone.
import { ask } from "./api.js";
import { element } from "./element.js";

const METHODS = ["get", "post", "put", "patch", "delete"];

function route(document, method, path, operation) {
  return element(
    "details",
    {},
    element(
      "summary",
      {},
      element("span", { class: "method", text: method.toUpperCase() }),
      element("span", { class: "path", text: path }),
      element("span", { class: "summary", text: operation.summary ?? "" }),
    ),
    element("div", { class: "body" }, ...body(document, operation)),
  );
}

function body(document, operation) {
  const parts = [element("p", { text: operation.description ?? "" })];
  if (operation.parameters?.length) {
    parts.push(element("h3", { text: "Parameters" }), element("table", {}, ...operation.parameters.map(parameterRow)));
  }
  const schema = operation.requestBody?.content?.["application/json"]?.schema;
  if (schema) parts.push(element("h3", { text: "Body" }), schemaText(document, schema));
  parts.push(element("h3", { text: "Answers" }));
  for (const [status, answer] of Object.entries(operation.responses)) parts.push(...answerParts(document, status, answer));
  return parts;
}

function parameterRow(parameter) {
  const words = [parameter.in, parameter.required ? "required" : "optional", parameter.description].filter(Boolean).join(", ");
  return element("tr", {}, element("td", { text: parameter.name }), element("td", { text: `${words} ${JSON.stringify(parameter.schema)}` }));
}

function answerParts(document, status, answer) {
  const [mediaType, content] = Object.entries(answer.content ?? {})[0] ?? ["", {}];
  const head = element("table", {}, element("tr", {}, element("td", { text: status }), element("td", { text: `${answer.description} ${mediaType}` })));
  const isProblem = mediaType.startsWith("application/problem");
  return content.schema && !isProblem ? [head, schemaText(document, content.schema)] : [head];
}

function schemaText(document, schema) {
  return element("pre", { text: JSON.stringify(resolved(document, schema, 3), null, 2) });
}

// References are followed a few steps, so that a body can be read where it stands.
function resolved(document, schema, steps) {
  if (Array.isArray(schema)) return schema.map((each) => resolved(document, each, steps));
  if (schema === null || typeof schema !== "object") return schema;
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return steps > 0 ? resolved(document, document.components.schemas[name], steps - 1) : `(${name})`;
  }
  const entries = Object.entries(schema).filter(([key]) => key !== "title" || typeof schema.title !== "string");
  return Object.fromEntries(entries.map(([key, value]) => [key, resolved(document, value, steps)]));
}

async function show() {
  const openapi = await ask("/openapi.json");
  document.getElementById("version").textContent = openapi.info.version;
  document.getElementById("description").textContent = openapi.info.description;
  const byTag = new Map();
  for (const [path, operations] of Object.entries(openapi.paths)) {
    for (const method of METHODS.filter((each) => each in operations)) {
      const tag = operations[method].tags?.[0] ?? "other";
      byTag.set(tag, [...(byTag.get(tag) ?? []), route(openapi, method, path, operations[method])]);
    }
  }
  const sections = [...byTag].flatMap(([tag, routes]) => [element("h2", { text: tag }), ...routes]);
  document.getElementById("routes").replaceChildren(...sections);
}

show();
