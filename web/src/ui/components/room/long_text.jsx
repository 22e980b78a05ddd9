// A file may be a megabyte: laid out at once it would hold the page up.
const MOST_AT_ONCE = 20_000;
const PART = 5_000;

/** A text whose parts are laid out when they come into view; a long one in parts that end with a line. @param {{text: string}} props */
export function LongText({ text }) {
  if (text.length <= MOST_AT_ONCE) return <>{text}</>;
  return (
    <>
      {partsOf(text).map((part, index) => (
        <div class="text-part" key={index}>
          {part}
        </div>
      ))}
    </>
  );
}

/** @param {string} text @returns {string[]} */
function partsOf(text) {
  const parts = [];
  for (let at = 0; at < text.length; ) {
    const line = text.indexOf('\n', at + PART);
    const end = line < 0 ? text.length : line + 1;
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}
