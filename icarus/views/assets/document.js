// Numbers stand to the right, verdicts have colours, and long texts have room; a click on a column's head sorts its table.
for (const cell of document.querySelectorAll("td")) {
  const text = cell.textContent, verdicts = {agrees: "good", above: "good", disagrees: "bad", below: "bad"};
  if (text.length > 50) cell.className = "long";
  else if (/^(\d|[-+<>].*\d)/.test(text)) cell.className = "number";
  else cell.className = verdicts[text] ?? "";
}
for (const button of document.querySelectorAll("th button")) button.onclick = () => {
  const head = button.parentElement, body = head.closest("table").tBodies[0], column = head.cellIndex;
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const key = row => row.cells[column].textContent.trim();
  // the first number of a text, of which commas are no part, such as in "p = 0.02" and "1,000"
  const number = text => parseFloat(/[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?/.exec(text)?.[0].replaceAll(",", ""));
  const compared = (a, b) => {  // as numbers, where both are; empty cells are the greatest
    if (a === "" && b === "") return 0;
    if (a === "") return 1;
    if (b === "") return -1;
    const x = number(a), y = number(b);
    return isNaN(x) || isNaN(y) ? a.localeCompare(b) : x - y;
  };
  [...body.rows].sort((a, b) => (down ? -1 : 1) * compared(key(a), key(b))).forEach(row => body.append(row));
};
