// What a page needs rarely, in one file that is loaded then.
export { chatsIn, fileOf, fileOfAll } from './files.js';
export { recover } from './recovery.js';
