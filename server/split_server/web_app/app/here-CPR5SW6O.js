import{a}from"./chunk-IYJ4WNE4.js";import"./chunk-SQAFT65P.js";import"./chunk-MILBOZ3C.js";export{a as Here};
