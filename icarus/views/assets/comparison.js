// The courses of several searches as curves, on the same scales; a move has the same colour in all.
unpacked(byId("data").textContent).then(courses => {
  const names = [...new Set(courses.flatMap(course => course.moves.map(move => move.name)))];
  const late = courses.flatMap(course => course.moves.flatMap(move => move.values.slice(move.values.length / 2))).filter(value => value !== null);
  const low = Math.floor(10 * Math.min(...late)) / 10, high = Math.ceil(10 * Math.max(...late)) / 10;
  courses.forEach((course, i) => {
    const section = document.querySelectorAll("section")[i], {iterations} = course, most = iterations[iterations.length - 1];
    for (const [kind, label, ends] of [["visits", "share of the visits", [0, 1]], ["values", "mean reward", [low, high]]]) {
      const series = course.moves.map(move => ({name: move.name, line: names.indexOf(move.name),
        points: move[kind].map((value, k) => [Math.log10(iterations[k]), value]).filter(([, value]) => value !== null)}));
      section.querySelector("." + kind).append(chart(series, {label: `${label}, over 1 to ${most.toLocaleString("en")} iterations (logarithmic)`, ends, across: [0, Math.log10(most)]}));
    }
  });
  document.body.dataset.ready = "yes";
});
