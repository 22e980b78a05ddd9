import{a}from"./chunk-3BEGBY5Y.js";import"./chunk-JAA54A4J.js";import"./chunk-DMGGR5GD.js";export{a as Here};
