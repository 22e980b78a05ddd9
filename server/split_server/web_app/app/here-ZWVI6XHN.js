import{a}from"./chunk-WHFGBZ2I.js";import"./chunk-OC2O565Z.js";import"./chunk-G2CHKZH2.js";export{a as Here};
