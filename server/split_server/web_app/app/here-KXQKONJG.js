import{a}from"./chunk-RXZ642IG.js";import"./chunk-G7BG4D4A.js";import"./chunk-HDXE3QRS.js";export{a as Here};
