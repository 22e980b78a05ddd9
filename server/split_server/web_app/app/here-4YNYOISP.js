import{a}from"./chunk-QDARQVTV.js";import"./chunk-VHWT7BTZ.js";import"./chunk-5RFMQNIO.js";export{a as Here};
