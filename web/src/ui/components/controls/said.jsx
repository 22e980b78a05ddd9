/** Words of which *those* are strong and `those` are typed as they stand. @param {{text: string}} props */
export function Said({ text }) {
  return <>{text.split(/(\*[^*]+\*|`[^`]+`)/).map(partOf)}</>;
}

/** @param {string} part @param {number} index odd: one that is marked */
function partOf(part, index) {
  if (index % 2 === 0) return part;
  const words = part.slice(1, -1);
  return part.startsWith('*') ? <strong key={index}>{words}</strong> : <code key={index}>{words}</code>;
}
