import{a}from"./chunk-UQVDCMGG.js";import"./chunk-7R7OZDCR.js";import"./chunk-RPRPUB6V.js";export{a as Here};
