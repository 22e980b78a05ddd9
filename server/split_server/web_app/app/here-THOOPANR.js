import{a}from"./chunk-6JH4ORHE.js";import"./chunk-WJATYANR.js";import"./chunk-Z27ZJXSV.js";export{a as Here};
