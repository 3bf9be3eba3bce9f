// Streamlit hears of a clicked dot only while dragging moves or zooms the picture. While it draws a
// lasso or a box, this tells of the click.
export default function ({ data, parentElement, setTriggerValue }) {
  const state = (parentElement.clicks ??= {});
  state.chart = data.chart;
  state.send = setTriggerValue;
  const listen = () => {
    const plot = document.querySelector(`.${state.chart} .js-plotly-plot`);
    if (!plot?.on || plot._ev === state.events) return;
    state.events = plot._ev;
    plot.on("plotly_click", ({ points: [dot] }) => {
      if (plot._fullLayout.clickmode.includes("select")) return;
      state.send("clicked", { curve_number: dot.curveNumber, point_index: dot.pointIndex });
    });
  };
  state.timer ??= setInterval(listen, 250);
  return () => clearInterval(state.timer);
}
