import{a}from"./chunk-GLV4Q6IT.js";import"./chunk-7U7BUCY6.js";import"./chunk-EOQSEPYD.js";export{a as Here};
