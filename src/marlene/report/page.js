(() => {
  "use strict";
  // Vega keeps names as keys of plain objects, where this one has a meaning: let it differ by a space without width.
  const safe = (value) => (value === "__proto__" ? "__proto__\u200b" : value);
  const page = JSON.parse(document.getElementById("page-data").textContent, (_, value) => safe(value));
  const root = document.documentElement;

  // Tables come as columns; names are given once and then by number.
  const tables = {};
  for (const [name, columns] of Object.entries(page.tables)) {
    const fields = Object.entries(columns).map(([field, column]) =>
      [field, Array.isArray(column) ? column : column.codes.map((code) => column.names[code])]);
    const length = fields.length ? fields[0][1].length : 0;
    tables[name] = Array.from({ length }, (_, i) => Object.fromEntries(fields.map(([field, values]) => [field, values[i]])));
  }

  const config = {
    background: "transparent",
    font: "system-ui, 'Segoe UI', Roboto, Arial, sans-serif",
    view: { stroke: null },
    range: { category: [1, 2, 3, 4, 5, 6, 7, 8].map((i) => `var(--c${i})`) },
    axis: {
      labelColor: "var(--soft)", titleColor: "var(--soft)", titleFontWeight: "normal", gridColor: "var(--grid)",
      domainColor: "var(--line)", tickColor: "var(--line)", labelFontSize: 11, titleFontSize: 12, labelLimit: 130,
    },
    legend: { labelColor: "var(--ink)", titleColor: "var(--soft)", titleFontWeight: "normal", labelFontSize: 12, labelLimit: 150, orient: "top", columns: 4, symbolStrokeWidth: 3 },
    text: { color: "var(--ink)" },
    title: { color: "var(--ink)" },
    rule: { color: "var(--soft)" },
  };
  const narrow = () => window.innerWidth < 560;
  const views = [];
  const params = {};

  async function draw(element) {
    const spec = JSON.parse(JSON.stringify(page.charts[element.dataset.chart]));
    const used = {};
    JSON.stringify(spec, (key, value) => {
      if (key === "data" && value && value.name && tables[value.name]) used[value.name] = tables[value.name];
      return value;
    });
    spec.datasets = used;
    for (const param of spec.params || []) if (param.name in params) param.value = params[param.name];
    const own = narrow() ? { ...config, axis: { ...config.axis, labelLimit: 84 }, legend: { ...config.legend, columns: 2 } } : config;
    const made = await window.vegaEmbed(element, spec, { renderer: "svg", actions: false, logLevel: 1, config: own });
    element.querySelector("svg").setAttribute("role", "img");
    element.querySelector("svg").setAttribute("aria-label", element.dataset.title || "");
    views.push({ element, view: made.view, params: new Set((spec.params || []).map((param) => param.name)) });
    element.dataset.drawn = "yes";
  }

  function tell(name, value) {
    for (const element of document.querySelectorAll(`[data-text="${name}"]`)) {
      element.textContent = (page.texts[name] || {})[value] || "";
    }
    for (const element of document.querySelectorAll(`[data-only="${name}"]`)) {
      element.hidden = element.dataset.value !== String(value);
    }
  }

  async function choose(name, chosen) {
    tell(name, chosen);
    const value = params[name] = safe(chosen);
    await Promise.all(views.filter((one) => one.params.has(name)).map((one) => one.view.signal(name, value).runAsync()));
    root.dataset.chosen = `${name}=${chosen}`;
  }

  for (const control of document.querySelectorAll("[data-param]")) {
    const read = () => (control.type === "range" ? Number(control.value) : control.value);
    params[control.dataset.param] = safe(read());
    tell(control.dataset.param, read());
    control.addEventListener("input", () => choose(control.dataset.param, read()));
  }

  const button = document.getElementById("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let asked = null;
  function paint() {
    const theme = asked || (dark.matches ? "dark" : "light");
    root.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `switch to ${theme === "dark" ? "light" : "dark"} colours`);
  }
  button.addEventListener("click", () => { asked = root.dataset.theme === "dark" ? "light" : "dark"; paint(); });
  dark.addEventListener("change", paint);
  paint();

  (async () => {
    for (const element of document.querySelectorAll("[data-chart]")) {
      try {
        await draw(element);
      } catch (error) {
        element.classList.add("failed");
        element.textContent = `This picture could not be drawn: ${error.message}`;
        console.error(error);
      }
    }
    root.dataset.ready = "yes";
  })();
})();
