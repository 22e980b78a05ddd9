import{a}from"./chunk-D7M2276J.js";import"./chunk-U6DPRNZ4.js";import"./chunk-O4P6BXNM.js";export{a as Here};
