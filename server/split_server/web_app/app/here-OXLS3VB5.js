import{a}from"./chunk-FW2OGRDQ.js";import"./chunk-NJ5ZHS4E.js";import"./chunk-2I26VU5B.js";export{a as Here};
