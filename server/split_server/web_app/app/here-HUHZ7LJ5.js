import{a}from"./chunk-BSA4Y6UK.js";import"./chunk-PKNIZGF4.js";import"./chunk-RKITUVAO.js";export{a as Here};
