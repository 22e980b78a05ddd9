import{a}from"./chunk-UIVOCFUF.js";import"./chunk-V2UYWWD3.js";import"./chunk-HDXE3QRS.js";export{a as Here};
