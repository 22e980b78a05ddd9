import{a}from"./chunk-E2Z7DHMD.js";import"./chunk-M3FWFWGS.js";import"./chunk-E64N7LTB.js";export{a as Here};
