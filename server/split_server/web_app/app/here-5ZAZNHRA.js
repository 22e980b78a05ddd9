import{a}from"./chunk-TLQ7AMKB.js";import"./chunk-32ODDZAH.js";import"./chunk-KTN4VSWR.js";export{a as Here};
