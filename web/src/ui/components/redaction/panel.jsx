// The parts that show redaction once a chat has it: loaded as one file.
export { GoingOut } from './going_out.jsx';
export { RedactionSheet } from './sheet.jsx';
export { WentOut } from './went_out.jsx';
