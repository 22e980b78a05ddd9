import{a}from"./chunk-IONMNFD4.js";import"./chunk-AU7FOW2C.js";import"./chunk-NJUGU2W4.js";export{a as Here};
