import{a}from"./chunk-TUBFNQAL.js";import"./chunk-H6MMGU2B.js";import"./chunk-TQTLV3S2.js";export{a as Here};
