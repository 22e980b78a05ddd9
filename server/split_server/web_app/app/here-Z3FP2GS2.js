import{a}from"./chunk-JLINGZYW.js";import"./chunk-QI7FSYKU.js";import"./chunk-WF3IN72B.js";export{a as Here};
